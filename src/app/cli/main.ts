import { readSettings } from '../config/read-settings.ts'
import { runCommandLine } from './run-command-line.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), {
  loadConfig: () => readSettings().config,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
})
