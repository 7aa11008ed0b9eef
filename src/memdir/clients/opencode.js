// It hands memdir's hooks what Claude Code would, and puts what they answer before the prompt.
// Whatever goes wrong in it, the session goes on.
import { spawn, spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const LINES = $LINES
const MILLISECONDS = $MILLISECONDS
const DATA = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")

const ask = (event, fields) =>
  new Promise((resolve) => {
    try {
      const child = spawn("/bin/sh", ["-c", LINES[event]], { stdio: ["pipe", "pipe", "ignore"] })
      let said = ""
      const timer = setTimeout(() => { child.kill("SIGKILL"); resolve("") }, MILLISECONDS)
      const end = () => {
        clearTimeout(timer)
        try {
          resolve(JSON.parse(said).hookSpecificOutput.additionalContext || "")
        } catch { resolve("") }
      }
      child.on("error", end)
      child.on("close", end)
      child.stdout.on("data", (part) => { said += part })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(fields))
    } catch { resolve("") }
  })

export const MemdirPlugin = async ({ directory }) => {
  const begun = new Set()
  const fields = (session) => ({
    session_id: session,
    cwd: directory,
    transcript_path: join(DATA, "opencode", "opencode.db", session),
  })
  return {
    "chat.message": async (input, output) => {
      try {
        const session = output.message.sessionID
        const own = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        if (!own.length) return
        const prompt = own.map((part) => part.text).join("\n")
        const start = begun.has(session)
          ? "" : await ask("session-start", { ...fields(session), source: "startup" })
        begun.add(session)
        const found = await ask("prompt", { ...fields(session), prompt })
        const last = own[own.length - 1]
        for (const [at, text] of [start, found].filter(Boolean).entries()) {
          // Behind the prompt, by an id that sorts there: from the first words a title is made.
          const id = last.id.slice(0, -3) + "zz" + at
          output.parts.push({ ...last, id, text, synthetic: true })
        }
      } catch {}
    },
    event: async ({ event }) => {
      try {
        if (event.type === "session.compacted") begun.delete(event.properties.sessionID)
        if (event.type !== "session.idle") return
        // At once: without a screen, opencode ends as soon as a session is idle.
        const input = JSON.stringify(fields(event.properties.sessionID))
        const quiet = { input, stdio: ["pipe", "ignore", "ignore"], timeout: MILLISECONDS }
        spawnSync("/bin/sh", ["-c", LINES.stop], quiet)
      } catch {}
    },
  }
}
