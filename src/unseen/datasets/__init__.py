"""How questions with known answers are made, kept and exchanged."""
