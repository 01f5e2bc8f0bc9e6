/** The two ceremonies of WebAuthn, with the browser's own JSON forms. */
import { ApiError } from './api-error.ts'
import { authGet, authPost, ownAuthGet, ownAuthPost } from './auth-call.ts'
import { renewSession } from './session.ts'

/**
 * True in browsers of 2025 and later, when the page was reached by host name and over https, or on this
 * machine.
 */
export function hasPasskeys(): boolean {
  return (
    typeof PublicKeyCredential === 'function' &&
    'parseRequestOptionsFromJSON' in PublicKeyCredential &&
    // A passkey is bound to a domain name, so an IP address cannot have one.
    !/^[\d.]+$|^\[/.test(window.location.hostname)
  )
}

export async function addPasskey(name: string): Promise<void> {
  const options = await ownAuthGet<PublicKeyCredentialCreationOptionsJSON>(
    '/passkey/generate-register-options',
  )
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const response = await ceremony(() => navigator.credentials.create({ publicKey }))
  await ownAuthPost('/passkey/verify-registration', { response, name })
}

export async function enterByPasskey(): Promise<void> {
  const options = await authGet<PublicKeyCredentialRequestOptionsJSON>(
    '/passkey/generate-authenticate-options',
  )
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const response = await ceremony(() => navigator.credentials.get({ publicKey }))
  await authPost('/passkey/verify-authentication', { response })
  await renewSession()
}

async function ceremony(run: () => Promise<Credential | null>): Promise<object> {
  let credential: Credential | null
  try {
    credential = await run()
  } catch (error) {
    const isKnown = error instanceof DOMException && error.name === 'InvalidStateError'
    throw new ApiError(0, isKnown ? 'passkey_known' : 'passkey_cancelled', String(error))
  }
  if (!(credential instanceof PublicKeyCredential)) throw new ApiError(0, 'passkey_cancelled')
  return credential.toJSON()
}
