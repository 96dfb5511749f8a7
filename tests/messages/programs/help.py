"""What pytest's own lists say of the plugin."""

# $ pytest --help | awk '/^[^ ]/ {ours = /^crash windows/} /^  [a-z_]+ \(/ {ours = /crashwindow_/} ours'
# $ pytest --markers | grep -E '^@pytest.mark.(crash|[a-z_]+_at)'
# $ pytest --fixtures | awk '/^crashwindow/,/^$/'
