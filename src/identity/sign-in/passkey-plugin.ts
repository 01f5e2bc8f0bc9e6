import { APIError } from 'better-auth/api'
import { passkey } from '@better-auth/passkey'
import type { Database } from '../../platform/db/open.ts'
import { listPasskeys } from './passkeys.ts'

/** Per user. */
const PASSKEYS_MAX = 20
/** The name of a new passkey. */
const NAMELESS = 'Chave de acesso'

/** A passkey signs in without a second factor, so the device must verify its user by fingerprint, face or PIN. */
export function passkeyPlugin(origin: string, db: Database) {
  return passkey({
    rpID: new URL(origin).hostname,
    rpName: 'Catraca',
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    // The plugin itself accepts passkeys without user verification.
    registration: {
      async afterVerification({ verification, user }) {
        if (verification.registrationInfo?.userVerified !== true) throw unverified()
        if ((await listPasskeys(db, user.id)).length >= PASSKEYS_MAX)
          throw new APIError('CONFLICT', { code: 'TOO_MANY_PASSKEYS', message: 'remove one first' })
        return { userId: user.id, name: NAMELESS }
      },
    },
    authentication: {
      afterVerification({ verification }) {
        if (!verification.authenticationInfo.userVerified) throw unverified()
      },
    },
    advanced: { webAuthnChallengeCookie: 'passkey_challenge' },
    schema: {
      passkey: {
        modelName: 'sign_in_passkeys',
        fields: {
          publicKey: 'public_key',
          userId: 'user_id',
          credentialID: 'credential_id',
          deviceType: 'device_type',
          backedUp: 'is_backed_up',
          createdAt: 'created_at',
        },
      },
    },
  })
}

function unverified(): APIError {
  return new APIError('UNAUTHORIZED', {
    code: 'USER_NOT_VERIFIED',
    message: 'the authenticator did not verify its user',
  })
}
