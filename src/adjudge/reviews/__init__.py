"""Reviews: what people say of judged items, which of them are in doubt, and how far judges and people agree."""
