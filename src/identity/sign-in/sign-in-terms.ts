/** Constants that routes, mails and better-auth share. */

export const AUTH_PATH = '/auth'
/** A page of ours (`src/http/sign-in`) to which links in mails lead, as to the ones below. */
export const CONFIRM_PATH = `${AUTH_PATH}/confirm`
export const LINK_PATH = `${AUTH_PATH}/link`
export const NEW_PASSWORD_PATH = `${AUTH_PATH}/new-password`
/** The client's IP address as the server has determined it; the server overwrites a header that a client sends. */
export const CLIENT_IP_HEADER = 'x-catraca-client-ip'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 128
