/**
 * Masks an e-mail address: `ana.souza@exemplo.com.br` -> `a***@e***.br`. It is enough for its owner to recognize it,
 * too little to write to.
 */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@')
  const local = email.slice(0, at < 0 ? 0 : at)
  const domain = email.slice(at + 1)
  const dot = domain.lastIndexOf('.')
  return `${first(local)}***@${first(domain)}***${dot > 0 ? domain.slice(dot) : ''}`
}

function first(text: string): string {
  return text.match(/^./u)?.[0] ?? ''
}
