"""From what files say to who calls whom, one resolver for each family of languages."""
