"""The settings of a dossier: scenarios that every player plays alike, by what runs in them."""
