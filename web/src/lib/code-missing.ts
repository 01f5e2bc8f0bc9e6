import { ApiError } from '../api/api-error.ts'

/** The code of a page cannot be loaded: there is no network, or the service was updated and has other files. */
export function codeMissing(): ApiError {
  return new ApiError(0, 'code_missing')
}
