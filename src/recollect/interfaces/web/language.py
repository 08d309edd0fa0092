"""Texts for people, in one language: English. `text` marks a text for translation, as `_` does in the templates.

A translation is a gettext catalogue whose keys are the English texts; `translations` is the place to load it.
"""

import gettext

translations = gettext.NullTranslations()
text = translations.gettext
texts = translations.ngettext
