/** The error handler answers in the format of the route. */
export class TooManyConnections extends Error {
  constructor() {
    super('the limit of client connections is reached')
  }
}
