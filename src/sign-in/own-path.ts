/**
 * Whether text is an address of this site and of no other, to go to after signing in. `//host` and `/\host` are
 * others, and so is what becomes one when a browser leaves out its tabs and line breaks.
 */
export function isOwnPath(text: string): boolean {
  return text.length <= PATH_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(text)
}

const PATH_MAX = 500
