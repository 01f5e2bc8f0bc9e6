import { loadConfig } from '../composition/config.ts'
import { runCommandLine } from './run-command-line.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), {
  loadConfig: () => loadConfig(process.env, process.cwd()),
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
})
