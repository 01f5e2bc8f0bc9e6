/** The code of who brought a visitor, kept for the tab from the link that they came by to their sign-up. */

const NAME = 'indicacao'
/** As the server has it. */
const LENGTH_MAX = 40

/** Of the address that the visitor came by: any page of ours may be it. */
export function keepReferralCode(search: string): void {
  const code = new URLSearchParams(search).get(NAME)?.trim() ?? ''
  if (code === '' || code.length > LENGTH_MAX) return
  try {
    sessionStorage.setItem(NAME, code)
  } catch {
    // A browser that keeps nothing: the field of the sign-up is still there.
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
