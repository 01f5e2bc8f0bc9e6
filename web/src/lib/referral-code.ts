/** Keeps the referral code of the link that a visitor followed until they sign up, in this tab. */

const NAME = 'indicacao'
/** The server's limit. */
const LENGTH_MAX = 40

/** Reads the code from the query of the visited URL, which may be any page. */
export function keepReferralCode(search: string): void {
  const code = new URLSearchParams(search).get(NAME)?.trim() ?? ''
  if (code === '' || code.length > LENGTH_MAX) return
  try {
    sessionStorage.setItem(NAME, code)
  } catch {
    // Without storage the code is not kept; the sign-up page still has a field for it.
  }
}

export function keptReferralCode(): string {
  try {
    return sessionStorage.getItem(NAME) ?? ''
  } catch {
    return ''
  }
}

export function referralLink(code: string): string {
  return `${window.location.origin}/cadastrar?${new URLSearchParams({ [NAME]: code })}`
}
