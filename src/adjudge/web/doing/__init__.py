"""What the web interface does when somebody presses a button: judging, and passes in processes of their own."""
