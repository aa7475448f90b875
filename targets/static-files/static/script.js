console.log("script loaded");
