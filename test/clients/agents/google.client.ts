/** Google's own clients, and the AI SDK's for Google: only their address, their key and the model are set. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { seedCustomer } from '../../harness/test-database.ts'
import { MODELS, VECTORS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { runClient } from './run-client.ts'

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

/** A dot of one pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
/** As the client's own dialog writes it: without it, an address of one's own means to it that no key is needed. */
const SETTINGS = { security: { auth: { selectedType: 'gemini-api-key' } } }
const OPTIONS = '--yolo --output-format json'.split(' ')
const CITIES = ['Recife', 'Belém']
const REPORT = /A ferramenta clima devolveu: “.*sol.*”/
const programOf = (name: string): string => join(import.meta.dirname, name)

for (const [format, model] of Object.entries(MODELS)) {
  test(`@google/genai: answers, streams, a chat with tools, an image, vectors, counts, models and errors work over an upstream of ${format}, and are charged by the upstream’s count`, async () => {
    const { db } = agents.gateway.database
    const { secret: poorKey } = await seedCustomer(db, { balanceBrl: '0' })
    const { code, stdout, stderr } = await runClient(
      process.execPath,
      [programOf('google-genai-program.mjs')],
      {
        GOOGLE_GEMINI_BASE_URL: agents.origin,
        GEMINI_API_KEY: agents.gateway.secret,
        MODEL: model,
        VECTORS,
        IMAGE: PIXEL,
        POOR_KEY: poorKey,
      },
    )
    assert.equal(code, 0, stderr)
    const found = JSON.parse(stdout)
    assert.match(found.plain[0], /Olá, catraca!/)
    assert.equal(found.plain[1], 'STOP')
    assert.deepEqual(found.streamed, found.plain)
    assert.deepEqual(
      found.asked,
      CITIES.map((cidade) => ['clima', { cidade }]),
    )
    assert.match(found.answered, REPORT)
    assert.ok(found.imageTokens > 700, 'the image was not counted')
    assert.equal(typeof found.shaped.nome, 'string')
    assert.ok(found.counted > 0)
    assert.deepEqual(found.lengths, [8, 8])
    assert.ok(found.models.includes(`models/${model}`), String(found.models))
    assert.deepEqual([found.one.name, found.one.outputTokenLimit], [`models/${model}`, 16_384])
    assert.deepEqual(found.errors, [
      { isKnown: true, code: 404, status: 'NOT_FOUND' },
      { isKnown: true, code: 400, status: 'INVALID_ARGUMENT' },
      { isKnown: true, code: 401, status: 'UNAUTHENTICATED' },
      { isKnown: true, code: 402, status: 'FAILED_PRECONDITION' },
      { isKnown: true, code: 402, status: 'FAILED_PRECONDITION' },
    ])
    await agents.assertCharges(8)
  })

  test(`@ai-sdk/google: a loop of tools, a stream and vectors work over an upstream of ${format}, and are charged by the upstream’s count`, async () => {
    const { code, stdout, stderr } = await runClient(
      process.execPath,
      [programOf('google-ai-sdk-program.mjs')],
      {
        ADDRESS: `${agents.origin}/v1beta`,
        KEY: agents.gateway.secret,
        MODEL: model,
        VECTORS,
      },
    )
    assert.equal(code, 0, stderr)
    const { asked, answered, text, reason, usage, count, error } = JSON.parse(stdout)
    assert.deepEqual(asked, CITIES)
    assert.match(answered, REPORT)
    assert.match(text, /Olá, catraca!/)
    assert.equal(reason, 'stop')
    assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0)
    assert.equal(count, 2)
    assert.equal(error.statusCode, 401)
    assert.match(error.message, /Chave de API inválida/)
    await agents.assertCharges(5)
  })

  test(`Gemini CLI does a task with two tools over an upstream of ${format}, and its calls are charged by the upstream’s count`, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gemini-cli-'))
    const home = await mkdtemp(join(tmpdir(), 'gemini-cli-home-'))
    await mkdir(join(home, '.gemini'))
    await writeFile(join(home, '.gemini/settings.json'), JSON.stringify(SETTINGS))
    const file = join(folder, 'nota.txt')
    // The sandbox makes the calls that a task writes down.
    const task = [
      'Faça esta tarefa:',
      `chame write_file ${JSON.stringify({ file_path: file, content: 'catraca\n' })}`,
      `chame run_shell_command ${JSON.stringify({ command: `tr a-z A-Z < ${file}`, description: 'Mostra a nota' })}`,
    ].join('\n')
    const { code, stdout, stderr } = await runClient(
      process.execPath,
      [
        programOf('node_modules/@google/gemini-cli/bundle/gemini.js'),
        ...OPTIONS,
        '--model',
        model,
        '--prompt',
        task,
      ],
      {
        HOME: home,
        GOOGLE_GEMINI_BASE_URL: agents.origin,
        GEMINI_API_KEY: agents.gateway.secret,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
      },
      folder,
    )
    assert.equal(code, 0, stdout.slice(-2_000) + stderr.slice(-4_000))
    assert.match(JSON.parse(stdout).response, /CATRACA/)
    assert.equal(await readFile(file, 'utf8'), 'catraca\n')
    await agents.assertCharges(3)
  })
}
