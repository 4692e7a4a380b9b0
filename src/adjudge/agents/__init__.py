"""Starting agents: tasks, connections to their programs, and what an attempt leaves behind."""
