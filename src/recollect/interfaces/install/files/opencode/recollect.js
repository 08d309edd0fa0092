// Recollect for OpenCode: hands events to `recollect hook opencode EVENT` and adds what it answers.
// It throws only to hold back a tool that a rule of the user's forbids, and waits no longer than its deadline.
import { spawn } from "node:child_process"

const PROGRAM = ["recollect", "hook"]
const DEADLINE = 3000 // milliseconds
const LARGEST = 200000 // characters of a tool's output that are handed on
const CHANGING = new Set(["bash", "edit", "write", "patch", "apply_patch", "multiedit"]) // tools worth a check before they run

const hook = (event, payload, wait) =>
  new Promise((resolve) => {
    let out = ""
    try {
      const [program, ...rest] = PROGRAM
      const child = spawn(program, [...rest, "opencode", event], {
        stdio: ["pipe", "pipe", "ignore"],
        windowsHide: true,
        env: wait ? { ...process.env, RECOLLECT_HOOK_DEADLINE: wait } : process.env,
      })
      const timer = setTimeout(() => {
        child.kill()
        resolve("")
      }, DEADLINE)
      const finish = () => {
        clearTimeout(timer)
        resolve(out.trim())
      }
      child.on("error", finish)
      child.on("close", finish)
      child.stdin.on("error", () => {})
      child.stdout.on("data", (chunk) => (out += chunk))
      child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
    } catch {
      resolve("")
    }
  })

const cut = (text) => (typeof text === "string" ? text.slice(0, LARGEST) : "")

// The requests for a session's title and for its summary have a system message too.
const isAside = (system) => /^You are a (title generator|context summarization agent)/.test(system?.[0] ?? "")

// What a hook says: plain text to add, or an object with `text`, a shorter `output`, or why to `hold` a tool back.
const answered = (said) => {
  try {
    return JSON.parse(said)
  } catch {
    return { text: said }
  }
}

class Held extends Error {}

const unfailing = (handlers) =>
  Object.fromEntries(
    Object.entries(handlers).map(([name, handler]) => [
      name,
      async (...given) => {
        try {
          await handler(...given)
        } catch (error) {
          if (error instanceof Held) throw error
          // else the agent goes on as if there were no memory
        }
      },
    ]),
  )

export const Recollect = async ({ directory, client }) => {
  const briefings = new Map() // session → promise of its briefing
  const asked = new Set() // sessions that asked for it before
  const warnings = new Map() // call → what to add to its output
  const said = new Map() // session → the last text of the assistant
  const roles = new Map() // message → its role
  const requested = new Set() // sessions whose agent was asked to record what it learnt, until it is idle again
  const open = new Set() // sessions that had a prompt and did not end

  const send = (event, session_id, rest = {}, wait = "") =>
    hook(event, { session_id, cwd: directory, ...rest }, wait)

  return unfailing({
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID
      if (!session || isAside(output.system)) return
      if (!briefings.has(session)) briefings.set(session, send("session.created", session, {}, "0.5"))
      const text = await briefings.get(session)
      if (text) output.system.push(text)
      else if (!asked.has(session)) briefings.delete(session) // it was still waking up: once more
      asked.add(session)
    },

    "chat.message": async (input, output) => {
      const prompt = (output.parts ?? [])
        .filter((part) => part.type === "text" && !part.synthetic)
        .map((part) => part.text)
        .join("\n")
      open.add(input.sessionID)
      const text = await send("chat.message", input.sessionID, { prompt: cut(prompt) })
      if (!text) return
      output.parts.push({
        id: `prt_recollect_${Date.now()}`,
        sessionID: input.sessionID,
        messageID: output.message?.id ?? input.messageID,
        type: "text",
        text,
        synthetic: true,
      })
    },

    "tool.execute.before": async (input, output) => {
      if (!CHANGING.has(input.tool)) return
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
      const found = answered(await send("tool.execute.before", input.sessionID, call))
      if (found.hold) throw new Held(found.hold)
      if (found.text) warnings.set(input.callID, found.text)
    },

    "tool.execute.after": async (input, output) => {
      const call = {
        tool_name: input.tool,
        tool_input: input.args,
        tool_use_id: input.callID,
        tool_response: { title: output.title, output: cut(output.output), metadata: output.metadata },
      }
      const warned = warnings.get(input.callID)
      warnings.delete(input.callID)
      const found = answered(await send("tool.execute.after", input.sessionID, call))
      if (typeof output.output !== "string") return
      if (found.output && output.output.length <= LARGEST) output.output = found.output
      const text = [warned, found.text].filter(Boolean).join("\n\n")
      if (text) output.output += `\n\n${text}`
    },

    "experimental.session.compacting": async (input) => {
      briefings.delete(input.sessionID) // the next request has it again
      asked.delete(input.sessionID)
      await send("experimental.session.compacting", input.sessionID)
    },

    event: async ({ event }) => {
      const { type, properties = {} } = event ?? {}
      if (type === "message.updated") roles.set(properties.info?.id, properties.info?.role)
      if (type === "message.part.updated" && properties.part?.type === "text") {
        const { messageID, sessionID, text } = properties.part
        if (roles.get(messageID) === "assistant") said.set(sessionID, text)
      }
      if (type === "session.idle") {
        roles.clear()
        const session = properties.sessionID
        // `opencode run` exits now; elsewhere the agent may be asked to go on, but not at once again.
        const stop_hook_active = requested.delete(session) || process.argv.includes("run")
        const idle = { last_assistant_message: cut(said.get(session)), stop_hook_active }
        const { ask } = answered(await send(type, session, idle))
        if (ask) {
          requested.add(session)
          const parts = [{ type: "text", text: ask, synthetic: true }]
          await client.session.promptAsync({ path: { id: session }, body: { parts } })
        }
      }
      if (type === "session.deleted") {
        const session = properties.info?.id ?? properties.sessionID
        for (const known of [briefings, asked, said, requested, open]) known.delete(session)
        await send(type, session)
      }
    },

    dispose: async () => {
      await Promise.all([...open].map((session) => send("dispose", session)))
      open.clear()
    },
  })
}
