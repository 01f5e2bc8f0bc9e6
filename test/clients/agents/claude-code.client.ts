/** Claude Code, headless: only its address, its key and its model are set. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { MODEL, MODELS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { canRun, runClient, runShown } from './run-client.ts'

const PACKAGE = `claude-code-${process.platform}-${process.arch}`
const CLAUDE = join(import.meta.dirname, 'node_modules/@anthropic-ai', PACKAGE, 'claude')

const OPTIONS =
  '--output-format stream-json --verbose --include-partial-messages --allowedTools Write Bash'.split(
    ' ',
  )

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

function environmentOf(model: string): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: agents.origin,
    ANTHROPIC_AUTH_TOKEN: agents.gateway.secret,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }
}

for (const [format, model] of Object.entries(MODELS))
  test(`Claude Code does a task with two tools and a streamed answer over an upstream of ${format}, and its calls are charged by the upstream’s count`, async (t) => {
    if (!canRun(CLAUDE)) return t.skip(`${PACKAGE} does not run on this machine`)
    const folder = await mkdtemp(join(tmpdir(), 'claude-code-'))
    const file = join(folder, 'nota.txt')
    // The sandbox makes the calls that a task writes down.
    const task = [
      'Faça esta tarefa:',
      `chame Write ${JSON.stringify({ file_path: file, content: 'catraca\n' })}`,
      `chame Bash ${JSON.stringify({ command: `tr a-z A-Z < ${file}`, description: 'Mostra a nota' })}`,
    ].join('\n')
    const { code, stdout, stderr } = await runClient(
      CLAUDE,
      ['-p', task, ...OPTIONS],
      environmentOf(model),
      folder,
    )
    assert.equal(code, 0, stdout.slice(-2_000) + stderr)
    const lines = stdout
      .trim()
      .split('\n')
      .map((line): any => JSON.parse(line))
    const used = lines
      .filter(({ type }) => type === 'assistant')
      .flatMap(({ message }) => message.content)
      .filter(({ type }) => type === 'tool_use')
    assert.deepEqual(
      used.map(({ name }) => name),
      ['Write', 'Bash'],
    )
    assert.equal(await readFile(file, 'utf8'), 'catraca\n')
    const result = lines.find(({ type }) => type === 'result')
    assert.equal(result.is_error, false)
    assert.match(result.result, /A ferramenta Bash devolveu: “CATRACA”/)
    const deltas = lines.filter(({ event }) => event?.delta?.type === 'text_delta')
    assert.ok(deltas.length > 5, `${deltas.length} deltas of text`)
    await agents.assertCharges(3)
  })

for (const [format, model] of Object.entries(MODELS))
  test(`Claude Code answers a greeting in a few calls, and summarises the conversation, over an upstream of ${format}`, async (t) => {
    if (!canRun(CLAUDE)) return t.skip(`${PACKAGE} does not run on this machine`)
    const folder = await mkdtemp(join(tmpdir(), 'claude-code-'))
    const env = { ...environmentOf(model), HOME: folder }
    const ask = async (...args: string[]): Promise<any> => {
      const { code, stdout, stderr } = await runClient(CLAUDE, args, env, folder)
      assert.equal(code, 0, stdout.slice(-2_000) + stderr)
      return JSON.parse(stdout)
    }
    const before = agents.sandbox.counts.completed
    const greeted = await ask('-p', 'Oi', '--output-format', 'json')
    assert.match(greeted.result, /sandbox da Catraca/)
    const calls = agents.sandbox.counts.completed - before
    assert.ok(calls <= 4, `${calls} calls`)
    const compacted = await ask('-p', '/compact', '--output-format', 'json', '--continue')
    assert.equal(compacted.is_error, false, JSON.stringify(compacted))
    await agents.assertCharges(calls + 1)
  })

test('the command that the dashboard shows starts Claude Code with this server', async (t) => {
  if (!canRun(CLAUDE)) return t.skip(`${PACKAGE} does not run on this machine`)
  const { origin, gateway } = agents
  const use = { origin, secret: gateway.secret, model: MODEL }
  const { code, stdout, stderr } = await runShown('claude-code', use, 'claude', CLAUDE, [
    '-p',
    'Olá!',
  ])
  assert.equal(code, 0, stdout.slice(-2_000) + stderr)
  assert.match(stdout, /sandbox da Catraca/)
  await agents.assertCharges(1)
})
