/** An account keeps its newest responses within these limits; older ones make room for them. */
export const STORED_RESPONSES_MAX = 10_000
export const STORED_BYTES_MAX = 256 * 1024 * 1024
/** A request or a response beyond this is not stored. */
export const STORED_PART_BYTES_MAX = 8 * 1024 * 1024
/** The most responses of one conversation, and the most that a request refers to. */
export const CONVERSATION_MAX = 1_000
/** The most days for which an account may have its responses stored. */
export const STORED_DAYS_MAX = 30
