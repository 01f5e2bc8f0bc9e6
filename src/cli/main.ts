import { loadConfig } from '../composition/config.ts'
import { loadEnvFile } from '../composition/load-env-file.ts'
import { runCommandLine } from './run-command-line.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), {
  loadConfig() {
    loadEnvFile(process.cwd())
    return loadConfig(process.env, process.cwd())
  },
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
})
