"""The tools of agents' harnesses: what kind of work each does, and which of its arguments says to what.

Read from recordings and the harnesses' published tool lists: Claude Code, Codex, Copilot, Cline, Roo Code, Cursor, Droid,
Gemini, Qwen, Inspect, OpenCode, OpenHands, Pi, SWE-agent, Terminus. A name is looked up in small letters without `_` and
`-`, since the same tool is spelled in several ways.
"""

from __future__ import annotations

import msgspec

from adjudge.profile.work import Work


class Tool(msgspec.Struct, frozen=True):
    """A tool, and the arguments that say to what it is done.

    `does` is its kind of work, or how its arguments tell that: "shell" and "code" are run, "by command" is a file tool
    whose argument `command` is the verb, and "stdin" is a poll unless it sends something.
    """

    does: Work | str
    paths: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()


_PATHS = ("file_path", "filePath", "path", "notebook_path", "filename", "target_file", "absolute_path", "paths", "files")
_FILES = (*_PATHS, "changes")
_PLACES = ("path", "paths", "dir_path", "directory", "target_directories")


def _tools(tool: Tool, names: str) -> dict[str, Tool]:
    return dict.fromkeys(names.split(), tool)


OF_A_SERVER = Tool("other")
"""A tool of an MCP server: that it is one is known, what it does is not."""

TOOLS: dict[str, Tool] = {
    **_tools(
        Tool("shell", commands=("command", "cmd", "commands", "keystrokes", "script", "code", "input")),
        "bash shell terminal executebash runshellcommand executecommand shellcommand execcommand localshellcall localshell "
        "containerexec runterminalcmd runinterminal shelltoolcall execute run runcommand runcommands bashcommand "
        "powershell action commandexecution bashsession exec unifiedexec",
    ),
    **_tools(Tool("code", commands=("code", "command", "input")), "python runipython executeipythoncell jsrepl ipython"),
    **_tools(Tool("stdin", commands=("chars", "input")), "writestdin writebash writepowershell"),
    **_tools(
        Tool("poll"),
        "bashoutput killbash killshell taskstop taskoutput wait waitagent listagents stopbash readbash listbash "
        "bashshutdown readpowershell stoppowershell listpowershell agentstatus agentwait agentlist monitor",
    ),
    **_tools(
        Tool("read", paths=_PATHS),
        "read readfile view open notebookread readmanyfiles readfiles readtoolcall filemap viewimage",
    ),
    **_tools(Tool("read_part", paths=_PATHS), "goto scrollup scrolldown"),
    **_tools(
        Tool("edit", paths=_FILES, patches=("patchText", "input", "patch")),
        "edit multiedit strreplace replace insert applypatch patch notebookedit replaceinfile applydiff searchandreplace "
        "searchreplace editfile edittoolcall editedexistingfile filechange editfileroo editfileanthropic editfilegrok "
        "editfilegemini editfilecodex undoedit",
    ),
    **_tools(Tool("write", paths=_FILES), "write writefile writetofile create createfile newfilecreated writetoolcall"),
    **_tools(Tool("files", paths=_PATHS), "delete deletefile deletetoolcall"),
    **_tools(
        Tool("by command", paths=_PATHS),
        "strreplaceeditor fileeditor texteditor planningfileeditor strreplacebasededittool editor",
    ),
    **_tools(
        Tool("search", paths=_PLACES),
        "grep grepsearch rg searchfiles searchfilecontent codebasesearch grepfiles search searchdir searchfile codesearch "
        "semsearchtoolcall greptoolcall searchcodesubagent searchtoolbm25",
    ),
    **_tools(
        Tool("list", paths=_PLACES),
        "glob ls list listdirectory listdir listfiles listfilestoplevel listfilesrecursive findfile lstoolcall "
        "globtoolcall listcodedefinitionnames",
    ),
    **_tools(
        Tool("web"),
        "webfetch websearch websearchexa googlewebsearch fetchurl opensite clickmouse screenshotsite browser browseraction "
        "browsernavigate browserclick browsergetcontent webread webrun webbrowserclick webbrowsergo webbrowsertype "
        "webbrowsertypesubmit webbrowserscroll webbrowserback webbrowserforward webbrowserrefresh websearchcall "
        "websearchtoolcall webfetchtoolcall fetchgenericurlcontent",
    ),
    **_tools(
        Tool("plan"),
        "todowrite todoread todo taskupdate taskcreate tasklist taskget updateplan updatetodolist focuschain writetodos "
        "think reportintent sql updatetopic tasktracker todotoolcall planenter planexit switchmode actmoderespond "
        "enterplanmode trackercreatetask trackerupdatetask trackergettask trackerlisttasks trackeradddependency todolist",
    ),
    **_tools(
        Tool("delegate"),
        "agent task spawnagent sendmessage followuptask closeagent sendinput resumeagent spawnagentsoncsv newtask "
        "searchsubagent delegate workflow teamcreate codebaseinvestigator clihelp readagent writeagent subagent "
        "agentcancel tasktoolcall collabtoolcall",
    ),
    **_tools(Tool("ask"), "askuserquestion askuser askfollowupquestion question requestuserinput"),
    **_tools(
        Tool("submit"),
        "submit finish attemptcompletion planmoderespond exitplanmode exitspecmode marktaskcomplete exitforfeit",
    ),
    **_tools(OF_A_SERVER, "usemcptool mcptoolcall"),
    **_tools(
        Tool("other"),
        "skill toolsearch toolsearchcall artifact reportfindings lsp batch invalid savememory activateskill "
        "storememory memory computer notifyuser accessmcpresource fetchinstructions codereview replytocomment "
        "getinternaldocs listmcpresourcestool readmcpresourcetool listmcpresources readmcpresource "
        "requestcondensation condense summarizetask imagegeneration generateimage croncreate enterworktree exitworktree",
    ),
}


def find_tool(name: str) -> Tool | None:
    """The tool with this name; `None` if it is not known. A server's tools (MCP) are something else than a harness's."""
    folded = name.rpartition("/")[2].removeprefix("ui:").replace("_", "").replace("-", "").replace(".", "").lower()
    if tool := TOOLS.get(folded):
        return tool
    return OF_A_SERVER if "__" in name or name.startswith("mcp_") else None
