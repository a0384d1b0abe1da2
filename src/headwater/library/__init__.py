"""The front door for programs: public values, and the functions behind `import headwater`. `docs/library.md` is its
page.
"""
