import { join } from 'node:path'
import { runCommandLine } from '../../src/app/cli/run-command-line.ts'
import { loadConfig } from '../../src/app/config/config.ts'

export interface RanCli {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** The line on stderr by which a command names its mode and database. */
export const TARGET_LINE =
  /^(sandbox|live) mode, the database \w+ at \S+(?:, through a pooler)? \(DATABASE_URL\)\n/

const root = join(import.meta.dirname, '../..')

/** `npm run catraca -- …` in this process, with only the given environment. */
export async function runCli(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RanCli> {
  let stdout = ''
  let stderr = ''
  const code = await runCommandLine([...args], {
    loadConfig: () => loadConfig(env, root),
    print: (text) => (stdout += text),
    complain: (text) => (stderr += text),
  })
  return { code, stdout, stderr }
}
