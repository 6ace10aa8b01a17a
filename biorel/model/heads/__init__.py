"""What is read off the encoded tokens: relations and entity types."""
