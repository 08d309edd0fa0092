"""What a project says of itself before anybody has worked in it: conventions, commands, history."""
