import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { BUNDLE_IMPORTS } from './bundle-imports.ts'
import type { RanCli } from './run-cli.ts'

const root = join(import.meta.dirname, '../..')

/** `npm run catraca -- …` in a separate process, whose start takes most of a second. */
export async function runCliProcess(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  program = 'src/app/cli/main.ts',
): Promise<RanCli> {
  const { PATH = '', HOME = '', NODE_COMPILE_CACHE = '', TEST_BUNDLES_FILE = '' } = process.env
  const child = spawn(process.execPath, [...BUNDLE_IMPORTS, resolve(root, program), ...args], {
    // Not the checkout, whose .env is the developer's own.
    cwd: tmpdir(),
    env: { PATH, HOME, NODE_COMPILE_CACHE, TEST_BUNDLES_FILE, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => (stdout += String(text)))
  child.stderr.on('data', (text) => (stderr += String(text)))
  const [code] = (await once(child, 'close')) as [number]
  return { code, stdout, stderr }
}
