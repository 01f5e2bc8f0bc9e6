/** Includes the version segment. */
export const ASAAS_URL_PRODUCTION = 'https://api.asaas.com/v3'
