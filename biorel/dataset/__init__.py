"""Mentions + curations -> pairs -> examples: strong distant supervision (BRAN sections 2.4 and 3.3.1)."""
