import { APIError } from 'better-auth/api'
import { passkey } from '@better-auth/passkey'
import type { Database } from '../db/open.ts'
import { listPasskeys } from './passkeys.ts'

/** Of one user. */
const PASSKEYS_MAX = 20
/** Of one that was given none. */
const NAMELESS = 'Chave de acesso'

/** A passkey signs in by itself: so its owner must have shown the device a finger, a face or a PIN. */
export function passkeyPlugin(origin: string, db: Database) {
  return passkey({
    rpID: new URL(origin).hostname,
    rpName: 'Catraca',
    origin,
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    // The plugin itself takes those whose owner showed nothing.
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
