/** The customer who was signed in last in this browser, so that the next one never finds what they left on its disk. */
const PLACE = 'catraca-customer'

/** Returns whether another customer was signed in before, also before this page was loaded. */
export function isOtherCustomer(customerId: string): boolean {
  try {
    const before = localStorage.getItem(PLACE)
    localStorage.setItem(PLACE, customerId)
    return before !== null && before !== customerId
  } catch {
    return false
  }
}
