/** The code in Python that the documentation and the dashboard show, run as it is shown, with a key in its place. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { PLACE_OF_SECRET } from '../../../src/site/pages/code-samples.ts'
import {
  imageSnippets,
  requestSnippets,
} from '../../../web/src/pages/playground/request-snippets.ts'
import { startGatewayProcess, type GatewayProcess } from '../../harness/gateway-process.ts'
import { environmentOf } from './prepare-environment.ts'

interface Sample {
  readonly place: string
  readonly code: string
}

/** As the documentation has them; many of the reference need a resource of their own, or act. */
const SAMPLES_MIN = 30
/** What the account does not have. */
const OF_OTHER_ACCOUNTS = /\/(topups\/automatic|me\/profile)"/
const RUN_MS_MAX = 240_000
const DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const RECORDING = join(import.meta.dirname, '../../../docs/examples/reuniao.wav')

const prepared = environmentOf('newest')
let gateway: GatewayProcess

before(async () => {
  gateway = await startGatewayProcess()
})

after(() => gateway.stop())

test(
  'every sample in Python works, copied as it is shown',
  'skip' in prepared ? prepared : {},
  async () => {
    assert.ok('python' in prepared)
    const { origin } = new URL(gateway.node.baseUrl)
    const samples = [...(await samplesOfDocs(origin)), ...samplesOfDashboard(gateway.node.baseUrl)]
    assert.ok(samples.length >= SAMPLES_MIN, String(samples.length))
    const folder = await mkdtemp(join(tmpdir(), 'samples-'))
    await copyFile(RECORDING, join(folder, 'reuniao.mp3'))
    await writeFile(join(folder, 'foto.png'), Buffer.from(DOT, 'base64'))
    const reports = await run(prepared.python, samples, folder)
    assert.equal(reports.length, samples.length)
    assert.deepEqual(
      reports.flatMap(({ place, fault }) => (fault === null ? [] : [`${place}: ${fault}`])),
      [],
    )
  },
)

async function samplesOfDocs(origin: string): Promise<Sample[]> {
  const home = await (await fetch(`${origin}/docs`)).text()
  const paths = [...home.matchAll(/href="(\/docs[^"#]*)"/g)].map(([, path = '']) => path)
  const found: Sample[] = []
  for (const path of new Set(['/docs', ...paths])) {
    if (path.startsWith('/docs/operadores/')) continue
    const page = await (await fetch(origin + path)).text()
    const codes = [...page.matchAll(/<pre[^>]*data-sample="python"\s*>\n?([^]*?)<\/pre>/g)]
    for (const [place, [, html = '']] of codes.entries()) {
      const code = textOf(html)
      if (!path.startsWith('/docs/referencia/') || canRun(code))
        found.push({ place: `${path}#${place}`, code })
    }
  }
  return found
}

/** Which samples of the reference read, and need neither an id nor anything that is not there. */
function canRun(code: string): boolean {
  return (
    code.includes('requests.get(') && !/\/[0-9a-f]{8}-/.test(code) && !OF_OTHER_ACCOUNTS.test(code)
  )
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(PLACE_OF_SECRET, gateway.secret)
}

function samplesOfDashboard(baseUrl: string): Sample[] {
  const messages = [{ role: 'user' as const, content: 'Olá, "catraca"!' }]
  const snippets = [
    ...requestSnippets(baseUrl, { model: 'gpt-4o-mini', messages, temperature: 0.5 }),
    ...imageSnippets(baseUrl, { model: 'gpt-image-1', prompt: 'Uma catraca' }),
  ]
  const inPython = snippets.filter(({ id }) => id === 'python')
  return inPython.map(({ code }, place) => ({ place: `playground#${place}`, code }))
}

async function run(
  python: string,
  samples: readonly Sample[],
  cwd: string,
): Promise<{ place: string; fault: string | null }[]> {
  const env = { PATH: process.env.PATH, HOME: cwd, CATRACA_API_KEY: gateway.secret }
  const child = spawn(python, [join(import.meta.dirname, 'run_samples.py')], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
    timeout: RUN_MS_MAX,
  })
  child.stdin.end(JSON.stringify(samples))
  const lines = (await child.stdout.setEncoding('utf8').toArray()).join('').trim().split('\n')
  return lines.map((line) => JSON.parse(line))
}
