/** Reads the command line. `--help` prints the options and exits with 0; faulty options exit with 2. */
export function readOptions<Options>(
  parse: (args: readonly string[]) => Options,
  usage: string,
): Options {
  const args = process.argv.slice(2)
  if (args.includes('--help')) {
    process.stdout.write(usage)
    process.exit(0)
  }
  try {
    return parse(args)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${usage}`)
    return process.exit(2)
  }
}
