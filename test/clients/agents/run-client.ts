import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import assert from 'node:assert/strict'
import { agentSamples } from '../../../src/site/pages/code-samples.ts'

export interface RunClient {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** No client needs as long. */
const CLIENT_MS_MAX = 240_000

/**
 * Runs a client with only these variables beside the search path, in `cwd` and with a home of its own, so that nothing
 * of the machine's user decides what it does. Its input is empty.
 */
export async function runClient(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): Promise<RunClient> {
  const home = await mkdtemp(join(tmpdir(), 'client-home-'))
  const child = spawn(command, args, {
    cwd: cwd ?? home,
    env: { PATH: process.env.PATH, HOME: home, TMPDIR: tmpdir(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CLIENT_MS_MAX,
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, stdout, stderr }
}

/** Runs the command that the dashboard shows, with this program in the place of the name that begins it. */
export async function runShown(
  id: string,
  use: { origin: string; secret: string; model: string },
  name: string,
  program: string,
  args: readonly string[],
): Promise<RunClient> {
  const { code } = agentSamples(use).find((sample) => sample.id === id) as { code: string }
  const place = code.search(new RegExp(`(?<=\\s)${name}(?=\\s|$)`))
  assert.ok(place >= 0, code)
  const command = `${code.slice(0, place)}"${program}"${code.slice(place + name.length)} "$@"`
  return runClient('sh', ['-c', command, 'sh', ...args], {})
}

/** Whether a program can be started on this machine: packages have binaries for some platforms only. */
export function canRun(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 60_000 }).status === 0
}
