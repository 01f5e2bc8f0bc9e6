/**
 * Whether the text is a path of this site, and therefore a safe redirect after signing in. `//host` and `/\host` lead
 * to another site, also if they are written with tabs or line breaks, which browsers remove.
 */
export function isOwnPath(text: string): boolean {
  return text.length <= PATH_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(text)
}

const PATH_MAX = 500
