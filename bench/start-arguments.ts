import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The arguments of Node.js in the `npm start` of a checkout, with its flags. Throws if they would start nothing. */
export function startArguments(root: string): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: { start: string }
  }
  const list = /^(?:\w+=\S+ )?(?:exec )?node (.+)$/.exec(scripts.start)?.[1]?.split(' ') ?? []
  if (!existsSync(join(root, list.at(-1) ?? 'none')))
    throw new Error(`"${scripts.start}", the command of npm start, starts no file of ${root}`)
  return list
}
