/** The options of the command line; `--help` tells them and ends with 0, faulty ones with 2. */
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
