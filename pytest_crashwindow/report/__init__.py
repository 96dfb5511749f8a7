"""What people read. All wording lives here."""
