/** What routes, mails and better-auth all go by. */

export const AUTH_PATH = '/auth'
/** Where links of mails lead: pages of ours (`src/http/sign-in`). */
export const CONFIRM_PATH = `${AUTH_PATH}/confirm`
export const LINK_PATH = `${AUTH_PATH}/link`
export const NEW_PASSWORD_PATH = `${AUTH_PATH}/new-password`
/** Who asks, as the server found it out: no header of the client's. */
export const CLIENT_IP_HEADER = 'x-catraca-client-ip'

export const PASSWORD_MIN = 10
export const PASSWORD_MAX = 128
