"""Which files, symbols and lines a text is about.

`search.relevant` answers in these steps: `question` weighs the terms of the text and `mentions` finds what it names outright;
`ranking` scores all files by words (`index`), names, links and `past_work` (similar commits and tasks); the best files are
split into `passages`, which are scored again and add to the score of their files. All weights and limits are in `weights`.

The result depends on the files, the git history and the past tasks alone. No model is used.
"""
