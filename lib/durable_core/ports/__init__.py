"""Small protocols, one per need. Adapters implement them; services and bootstrap know nothing else of the outside."""
