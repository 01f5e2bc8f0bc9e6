import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

export interface RanCli {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** `npm run catraca -- …` in a process of its own, which knows nothing of the environment but what is given. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RanCli> {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['src/cli/main.ts', ...args], {
    cwd: join(import.meta.dirname, '../..'),
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout, stderr }
}
