"""explore: what is known about something, over nodes, edges, sources and artifacts.

`asked` checks what was asked, `queries` widens it, then, in this order: `gather`, `filters`,
`score`, `cut`, `expand`; `result` is what comes out. All of it is pure: it takes a Picture that
holds only what the caller may see.
"""
