"""What tests say to a server, and how they read its answers."""


def text_of(answer):
    (block,) = answer.content
    return block.text
