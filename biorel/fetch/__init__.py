"""What comes from the internet, and how."""
