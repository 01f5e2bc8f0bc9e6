/** Providers that ignore dots in the local part; Google's second domain has the same mailboxes. */
const IGNORES_DOTS: Readonly<Record<string, string>> = {
  'gmail.com': 'gmail.com',
  'googlemail.com': 'gmail.com',
}

/**
 * Returns the same text for all spellings by which mails reach the same mailbox, for limits that must not be evaded by
 * spelling: `Ana+1@exemplo.com` reaches `ana@exemplo.com`. It is never an address to write to, and never an identity.
 */
export function mailboxOf(email: string): string {
  const lower = email.toLowerCase()
  const at = lower.lastIndexOf('@')
  const domain = lower.slice(at + 1)
  const [name = ''] = lower.slice(0, at).split('+', 1)
  const known = IGNORES_DOTS[domain]
  if (name === '') return lower
  return known === undefined ? `${name}@${domain}` : `${name.replaceAll('.', '')}@${known}`
}
