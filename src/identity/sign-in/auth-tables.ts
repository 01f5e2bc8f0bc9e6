/** Maps the names of better-auth to our tables and columns. */
export function authTables() {
  const times = { createdAt: 'created_at', updatedAt: 'updated_at' } as const
  return {
    user: {
      modelName: 'sign_in_users',
      fields: { ...times, emailVerified: 'is_verified' },
      additionalFields: {
        referralCode: {
          type: 'string',
          required: false,
          returned: false,
          fieldName: 'referral_code',
        },
        acceptedTerms: {
          type: 'string',
          required: false,
          returned: false,
          fieldName: 'accepted_terms',
        },
      },
    },
    session: {
      modelName: 'sign_in_sessions',
      fields: {
        ...times,
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip',
        userAgent: 'user_agent',
      },
      additionalFields: {
        awaitsFactor: {
          type: 'boolean',
          required: false,
          returned: false,
          input: false,
          fieldName: 'awaits_factor',
        },
        factorAt: {
          type: 'date',
          required: false,
          returned: false,
          input: false,
          fieldName: 'factor_at',
        },
      },
    },
    account: {
      modelName: 'sign_in_accounts',
      fields: {
        ...times,
        userId: 'user_id',
        providerId: 'provider_id',
        accountId: 'provider_account',
      },
    },
    verification: {
      modelName: 'sign_in_verifications',
      fields: { ...times, expiresAt: 'expires_at' },
    },
  } as const
}
