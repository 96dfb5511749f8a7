class Mailer:
    def send(self):
        pass
