"""`headwater admin`: users and tokens of the web role, and the log of what they changed."""

from cyclopts import App

from headwater.cli.admin import audit, tokens, users

app = App(name="admin", help="Who may call the web role: users, tokens, and the log of what they changed.")
app.command(users.create, name="create")
app.command(users.edit, name="edit")
app.command(users.reset_password, name="reset-password")
app.command(users.list_all, name="list")
app.command(users.remove, name="rm")
app.command(users.sessions, name="sessions")
app.command(users.end_session, name="end-session")
app.command(tokens.app)
app.command(audit.audit, name="audit")
