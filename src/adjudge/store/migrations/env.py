"""What Alembic runs to migrate: everything on the connection that it is handed, in that connection's transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
